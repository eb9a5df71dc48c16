"use strict";
// Where one is. Airflow shows these pages in a frame whose sandbox has neither allow-popups nor allow-modals nor
// allow-top-navigation. Airflow's address follows the frame from page to page; what is chosen on a page is added here, and
// a link that must leave the frame is followed by Airflow's page.
(() => {
  const frame = document.querySelector("iframe");
  const airflow = parent !== window && parent.location.origin === origin ? parent : null;
  const keep = () => {
    const here = document.getElementById("here");
    if (here) here.href = location.href;
    const around = airflow && airflow.location;
    if (around && around.pathname.endsWith(location.pathname) && around.hash !== location.hash)
      airflow.history.replaceState(airflow.history.state, "", around.pathname + around.search + location.hash);
  };
  // The page in the frame says what is chosen in it.
  addEventListener("message", (event) => {
    const hash = frame && event.source === frame.contentWindow && event.data && event.data.clientTelemetryHash;
    if (typeof hash !== "string") return;
    history.replaceState(null, "", hash || "#");
    keep();
  });
  if (frame && location.hash.length > 1) frame.src = frame.getAttribute("src") + location.hash;

  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[target]");
    if (!link || !airflow) return;
    event.preventDefault();
    const followed = airflow.document.createElement("a");
    followed.href = link.href;
    if (link.target === "_blank") [followed.target, followed.rel] = ["_blank", "noopener"];
    airflow.document.body.append(followed);
    followed.click();
    followed.remove();
  });
  keep();
})();
