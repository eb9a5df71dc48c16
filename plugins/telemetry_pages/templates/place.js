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
  // To another published file, and to nothing else: a page is shown in its frame, any other file is downloaded.
  const pages = { fleet: "fleet", upgrade_impact: "reports", upgrade_review: "reviews", subscription_check: "checks" };
  const follow = (href) => {
    const base = new URL(frame.src).pathname.split("/files/")[0];
    const url = new URL(href);
    if (url.origin !== location.origin || !url.pathname.startsWith(`${base}/files/`)) return;
    const [kind, cluster, entry, ...rest] = url.pathname.slice(`${base}/files/`.length).split("/");
    if (rest.join("/") === "index.html" && pages[kind]) {
      location.href = `${base}/${pages[kind]}/${cluster}/${entry}${url.hash}`;
      return;
    }
    const file = document.createElement("a");
    [file.href, file.download] = [url.href, ""];
    document.body.append(file);
    file.click();
    file.remove();
  };
  // The page in the frame says what is chosen in it, and which of its links was followed.
  addEventListener("message", (event) => {
    if (!frame || event.source !== frame.contentWindow || !event.data) return;
    const { clientTelemetryHash: hash, clientTelemetryLink: link } = event.data;
    if (typeof link === "string") follow(link);
    if (typeof hash !== "string") return;
    history.replaceState(null, "", hash || "#");
    keep();
  });
  // Once, and with what is chosen in it: not a second time over a load that has begun.
  if (frame) frame.src = frame.dataset.src + location.hash;

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
