"use strict";
// The last daily run, its state and its note, from Airflow's REST interface with the rights of the user.
(async () => {
  const place = document.getElementById("last-run");
  const { runs, page } = place.dataset;
  const answer = await fetch(`${runs}?order_by=-run_after&limit=1`, { credentials: "same-origin" });
  if (!answer.ok) return;
  const [run] = (await answer.json()).dag_runs;
  if (!run) return;
  const link = document.createElement("a");
  link.href = `${page}/${encodeURIComponent(run.dag_run_id)}`;
  link.target = "_top";
  link.textContent = `Last daily run: ${run.state}`;
  place.append(link, ` ${(run.start_date || run.run_after).slice(0, 16).replace("T", " ")} UTC`);
  const lines = (run.note || "").split("\n\n");
  for (const line of run.state === "failed" ? lines.filter((each) => each.startsWith("FAILED")) : []) {
    const reason = document.createElement("span");
    reason.className = "reason";
    reason.textContent = line;
    place.append(reason);
  }
  place.hidden = false;
})();
