"use strict";
// The last finished daily run, with its note if it failed, and one that runs or waits beside it: from Airflow's REST interface, with
// the rights of the user.
(async () => {
  const place = document.getElementById("last-run");
  const { runs, page } = place.dataset;
  const newest = async (...states) => {
    const query = new URLSearchParams([["order_by", "-run_after"], ["limit", "1"], ...states.map((each) => ["state", each])]);
    const answer = await fetch(`${runs}?${query}`, { credentials: "same-origin" });
    return answer.ok ? (await answer.json()).dag_runs[0] : undefined;
  };
  const [finished, current] = await Promise.all([newest("success", "failed"), newest("running", "queued")]);
  const add = (run, words) => {
    const link = document.createElement("a");
    link.href = `${page}/${encodeURIComponent(run.dag_run_id)}`;
    link.target = "_top";
    link.textContent = `${words}: ${run.state}`;
    place.append(link, ` ${(run.start_date || run.run_after).slice(0, 16).replace("T", " ")} UTC`);
  };
  if (finished) add(finished, "Last daily run");
  if (finished && current) place.append(" · ");
  if (current) add(current, "Now");
  const lines = finished?.state === "failed" ? (finished.note || "").split("\n\n") : [];
  for (const line of lines.filter((each) => each.startsWith("FAILED"))) {
    const reason = document.createElement("span");
    reason.className = "reason";
    reason.textContent = line;
    place.append(reason);
  }
  place.hidden = !finished && !current;
})();
