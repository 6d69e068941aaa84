// Puts the picture of a panel in its place where the panel itself cannot be drawn: the page has no kernel, or no network.
(function () {
  const me = document.currentScript, saved = me?.previousElementSibling;
  const row = me?.closest(".jp-OutputArea-child"), view = row?.previousElementSibling;
  if (!saved || !view) return;
  const started = Date.now();
  const seconds = () => (Date.now() - started) / 1000;
  const isThere = () => Boolean(view.querySelector(".prodex"));
  // An exported page has the views of widgets as data, and draws them with scripts from the network.
  const isExported = Boolean(view.querySelector("script[type='application/vnd.jupyter.widget-view+json']"));
  const isLost = () => (isExported
    ? document.readyState === "complete" && (typeof window.require === "undefined" || seconds() > 15)
    : /^Error displaying widget/m.test(view.textContent.trim()) || (seconds() > 10 && /^Loading widget/m.test(view.textContent.trim())));
  const show = (isPicture) => {
    row.style.display = isPicture ? "" : "none";
    view.style.display = isPicture ? "none" : "";
  };
  show(false);
  let picture = null;
  const watching = setInterval(() => {
    const isEnd = isThere() || seconds() > 120 || !row.isConnected;
    if (isEnd) clearInterval(watching);
    // A kernel may have started late.
    if (isThere()) show(false);
    else if (!picture && isLost()) {
      picture = document.createElement("div");
      picture.innerHTML = saved.textContent;
      row.querySelector(".jp-RenderedHTMLCommon, .jp-OutputArea-output")?.append(picture);
      show(true);
    }
  }, 250);
})();
