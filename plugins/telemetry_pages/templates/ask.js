"use strict";
// Turns the form into a run of the DAG, by Airflow's REST interface and with the rights of the user who is logged in.
(() => {
  const form = document.getElementById("ask");
  const told = document.getElementById("asked");
  const say = (text, href) => {
    told.textContent = text;
    if (href) {
      const link = document.createElement("a");
      link.href = href;
      link.textContent = "Show the report";
      told.append(" ", link);
    }
  };
  const json = async (url, options) => {
    const answer = await fetch(url, { credentials: "same-origin", ...options });
    const body = await answer.json().catch(() => ({}));
    if (answer.ok) return body;
    const detail = typeof body.detail === "string" ? body.detail : JSON.stringify(body.detail || body);
    throw Object.assign(new Error(detail), { status: answer.status });
  };
  const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

  // The XCom that a task leaves when it fails.
  const reason = async (url) => {
    for (const task of ["impact", "publish"]) {
      try {
        return (await json(`${url}/taskInstances/${task}/xcomEntries/failure`)).value;
      } catch {}
    }
    return "The log of its last task says why and what to do.";
  };

  const cluster = form.elements.cluster;
  const releases = document.getElementById("releases");
  // What `client-telemetry probe` measured for the chosen cluster, above the releases.
  const offer = (targets) => {
    for (const option of releases.querySelectorAll(".measured")) option.remove();
    const options = targets.map((name) => new Option(`${name}, a measured target`, name));
    for (const option of options) option.className = "measured";
    releases.prepend(...options);
  };
  const choose = () => {
    const { next, known, first, last, targets } = cluster.selectedOptions[0]?.dataset ?? {};
    offer((targets ?? "").split(" ").filter(Boolean));
    form.elements.to.value = next ?? "";
    [form.elements.day.min, form.elements.day.max] = [first ?? "", last ?? ""];
    document.getElementById("known").textContent = known ?? "";
  };
  cluster.addEventListener("change", choose);
  choose();

  // How long until an answer: stages that run in the pool of the question go on; then the question is next.
  const seconds = (task) => (Date.parse(task.end_date) || Date.now()) / 1000 - Date.parse(task.start_date) / 1000;
  const median = (numbers) => numbers.sort((a, b) => a - b)[Math.floor(numbers.length / 2)];
  const words = (time) => (time < 90 ? `${Math.max(1, Math.round(time))} s` : `${Math.round(time / 60)} minutes`);
  const tasks = async (dag, filter) =>
    (await json(`${form.dataset.api}/dags/${dag}/dagRuns/~/taskInstances?${filter}`)).task_instances;
  const wait = async () => {
    const told = [];
    const pool = await json(`${form.dataset.api}/pools/lake_writer`);
    if (pool.open_slots > 0) told.push("Starts at once.");
    else {
      const running = (await tasks("~", "state=running&pool=lake_writer")).slice(0, 10);
      const left = await Promise.all(
        running.map(async (task) => {
          const done = `task_id=${encodeURIComponent(task.task_id)}&state=success&order_by=-start_date&limit=5`;
          const earlier = (await tasks(task.dag_id, done)).map(seconds);
          return { task, left: earlier.length > 0 ? Math.max(0, median(earlier) - seconds(task)) : Infinity };
        }),
      );
      left.sort((a, b) => a.left - b.left);
      if (left.length > 0) {
        const { task, left: time } = left[0];
        const label = task.rendered_map_index ? `${task.task_id} [${task.rendered_map_index}]` : task.task_id;
        const about = Number.isFinite(time) ? `, in about ${words(time)}` : "";
        told.push(`Starts when ${label} has ended${about}: questions go before the nightly run.`);
      }
    }
    const answered = await json(`${form.dataset.runs}?state=success&order_by=-start_date&limit=5`);
    if (answered.dag_runs.length > 0) {
      told.push(`The last questions took ${words(median(answered.dag_runs.map(seconds)))}.`);
    }
    document.getElementById("wait").textContent = told.join(" ");
  };
  wait().catch(() => {}); // who may not see pools asks all the same

  const follow = async (run) => {
    const url = `${form.dataset.runs}/${encodeURIComponent(run)}`;
    for (;;) {
      const { state } = await json(url);
      if (state === "success") {
        const report = form.dataset.answered + encodeURIComponent(run);
        say("Answered.", report);
        location.assign(report);
        return;
      }
      if (state === "failed") return say(`The run ${run} failed. ${await reason(url)}`);
      say(`Asked as ${run}: ${state}.`);
      await pause(3000);
    }
  };

  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const values = Object.fromEntries(new FormData(form));
    const conf = {
      cluster: values.cluster,
      from: values.from.trim() || null,
      to: values.to.trim(),
      day: values.day || null,
      window_days: Number(values.window_days),
      planned_for: values.planned_for || null,
      asked_by: values.asked_by.trim() || null,
    };
    const button = form.querySelector("button");
    button.disabled = true;
    try {
      const body = JSON.stringify({ logical_date: null, conf });
      const headers = { "Content-Type": "application/json" };
      const run = await json(form.dataset.runs, { method: "POST", headers, body });
      await follow(run.dag_run_id);
    } catch (error) {
      say(error.status ? `Rejected: ${error.message}` : `Airflow cannot be reached: ${error.message}`);
    } finally {
      button.disabled = false;
    }
  });
})();
