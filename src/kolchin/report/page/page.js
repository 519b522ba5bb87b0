"use strict";
// Charts are drawn when there is room for them: those in a closed <details> once it is opened.
const specs = JSON.parse(document.getElementById("charts").textContent);

const options = { mode: "vega-lite", renderer: "svg", actions: false, defaultStyle: false };

function drawAll() {
  for (const place of document.querySelectorAll("[data-chart]:not([data-drawn])")) {
    if (place.clientWidth === 0) continue;
    place.dataset.drawn = "";
    vegaEmbed(place, specs[place.dataset.chart], options);
  }
}

document.addEventListener("toggle", drawAll, true);
drawAll();
