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
  const leave = (href, target) => {
    const { document: around } = airflow ?? window;
    const followed = around.createElement("a");
    followed.href = href;
    if (target === "_blank") [followed.target, followed.rel] = ["_blank", "noopener"];
    around.body.append(followed);
    followed.click();
    followed.remove();
  };
  const [base, inFrame] = frame ? new URL(frame.dataset.src, location.href).pathname.split("/files/") : ["", ""];
  // To another published file or to mail, and to nothing else: a page is shown in its frame, any other file is downloaded.
  const pages = { fleet: "fleet", upgrade_impact: "reports", upgrade_review: "reviews", subscription_check: "checks" };
  const follow = (href) => {
    const url = new URL(href);
    if (url.protocol === "mailto:") return leave(url.href, "_blank");
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
  // A client's page of the day: that of the fleet page, or the one that a report names.
  const showClient = ({ id, principal, day }) => {
    const [, cluster, entry] = inFrame.split("/");
    const named = new URLSearchParams({ ...(id === null ? {} : { id }), principal: principal ?? "" });
    location.href = `${base}/client/${cluster}/${day ? encodeURIComponent(day) : entry}?${named}`;
  };
  // Where Airflow's frame forbids dialogs, a window of its own prints, as its address asks.
  const printed = new URLSearchParams(location.search).has("print");
  const print = () => {
    if (airflow) leave(`${location.pathname}?print${location.hash}`, "_blank");
    else frame.contentWindow.postMessage({ clientTelemetryPrint: true }, "*");
  };
  if (frame && printed && !airflow) frame.addEventListener("load", print, { once: true });
  // The page in the frame says what is chosen in it, and what was clicked.
  addEventListener("message", (event) => {
    if (!frame || event.source !== frame.contentWindow || !event.data) return;
    const { clientTelemetryHash: hash, clientTelemetryLink: link, clientTelemetryClient: client } = event.data;
    if (typeof link === "string") follow(link);
    if (client) showClient(client);
    if (event.data.clientTelemetryPrint) print();
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
    leave(link.href, link.target);
  });
  keep();
})();
