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
    throw new Error(`${answer.status}: ${detail}`);
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
  const choose = () => {
    const { next, known } = cluster.selectedOptions[0]?.dataset ?? {};
    if (next) form.elements.to.value = next;
    document.getElementById("known").textContent = known ?? "";
  };
  cluster.addEventListener("change", choose);
  choose();

  const follow = async (run) => {
    const url = `${form.dataset.runs}/${encodeURIComponent(run)}`;
    for (;;) {
      const { state } = await json(url);
      if (state === "success") return say("Answered.", form.dataset.answered + encodeURIComponent(run));
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
      from: values.from || null,
      to: values.to,
      day: values.day || null,
      window_days: Number(values.window_days),
    };
    const button = form.querySelector("button");
    button.disabled = true;
    try {
      const body = JSON.stringify({ logical_date: null, conf });
      const headers = { "Content-Type": "application/json" };
      const run = await json(form.dataset.runs, { method: "POST", headers, body });
      await follow(run.dag_run_id);
    } catch (error) {
      say(`Not answered. ${error.message}`);
    } finally {
      button.disabled = false;
    }
  });
})();
