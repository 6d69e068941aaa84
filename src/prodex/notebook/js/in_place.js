// Puts what was saved of a panel in its place where the panel cannot be drawn: the page has no kernel, or no network.
(function () {
  const me = document.currentScript, saved = me?.previousElementSibling;
  const row = me?.closest(".jp-OutputArea-child"), view = row?.previousElementSibling;
  if (!saved || !view) return;
  const started = Date.now();
  const seconds = () => (Date.now() - started) / 1000;
  // A panel that was restored without its kernel is there, and has nothing to show.
  const isThere = () => Boolean(view.querySelector(".prodex .page-body"));
  // An exported page has the views of widgets as data, and draws them with scripts from the network.
  const isExported = Boolean(view.querySelector("script[type='application/vnd.jupyter.widget-view+json']"));
  const isLost = () => (isExported
    ? document.readyState === "complete" && (typeof window.require === "undefined" || seconds() > 15)
    : /^Error displaying widget/m.test(view.textContent.trim())
      || (seconds() > 10 && (/^Loading widget/m.test(view.textContent.trim()) || view.querySelector(".prodex"))));
  const show = (isSaved) => {
    row.style.display = isSaved ? "" : "none";
    view.style.display = isSaved ? "none" : "";
  };
  show(false);
  let shown = null;
  const watching = setInterval(() => {
    const isEnd = isThere() || seconds() > 120 || !row.isConnected;
    if (isEnd) clearInterval(watching);
    // A kernel may have started late.
    if (isThere()) show(false);
    else if (!shown && isLost()) {
      shown = document.createElement("div");
      shown.innerHTML = saved.textContent;
      row.querySelector(".jp-RenderedHTMLCommon, .jp-OutputArea-output")?.append(shown);
      show(true);
    }
  }, 250);
})();
