"use strict";
// Keeps what follows the number sign the same in the address of this page and in that of the page in the frame, so that a
// filter or a client can be bookmarked and sent.
(() => {
  const frame = document.querySelector("iframe");
  const here = document.getElementById("here");
  const tell = () => {
    here.href = location.href;
  };
  addEventListener("message", (event) => {
    const hash = event.source === frame.contentWindow && event.data && event.data.clientTelemetryHash;
    if (typeof hash !== "string") return;
    history.replaceState(null, "", hash || "#");
    tell();
  });
  if (location.hash.length > 1) frame.src = frame.getAttribute("src") + location.hash;
  tell();
})();
