// Puts the picture of a panel in its place where the panel itself cannot be drawn: the page has no kernel, or no network.
(function () {
  const me = document.currentScript, saved = me?.previousElementSibling;
  const row = me?.closest(".jp-OutputArea-child"), view = row?.previousElementSibling;
  if (!saved || !view) return;
  row.style.display = "none";
  const isThere = () => Boolean(view.querySelector(".prodex"));
  // An exported page has the views of widgets as data, and draws them with scripts from the network.
  const isExported = Boolean(view.querySelector("script[type='application/vnd.jupyter.widget-view+json']"));
  const isLost = () => (isExported
    ? document.readyState === "complete" && (typeof window.require === "undefined" || performance.now() > 15000)
    : /^Error displaying widget/.test(view.textContent.trim()) || /^Error displaying widget/m.test(view.innerText));
  const started = Date.now();
  const watching = setInterval(() => {
    if (isThere() || Date.now() - started > 60000 || !row.isConnected) clearInterval(watching);
    else if (isLost()) {
      clearInterval(watching);
      const picture = document.createElement("div");
      picture.innerHTML = saved.textContent;
      row.querySelector(".jp-RenderedHTMLCommon, .jp-OutputArea-output")?.append(picture);
      row.style.display = "";
      view.style.display = "none";
    }
  }, 250);
})();
