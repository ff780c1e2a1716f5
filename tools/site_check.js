// What site_check.py asks a page. Each function answers with plain values.

function read() {
  const all = (selector) => [...document.querySelectorAll(selector)];
  const name = (each) => [each.textContent, each.title, each.ariaLabel, each.alt].join("").trim();
  return {
    headings: all("article :is(h1, h2, h3, h4, h5, h6)").map((each) => [
      Number(each.tagName[1]),
      each.innerText.trim(),
    ]),
    anchors: all("[id]").map((each) => each.id),
    links: all("a[href]").map((each) => each.href),
    nameless: all("a[href], button, img, svg[role=img]")
      .filter((each) => each.checkVisibility() && !name(each))
      .map((each) => each.outerHTML.slice(0, 120)),
  };
}

// Words of code that begin on one line and end on another.
function broken() {
  const found = [];
  const range = document.createRange();
  for (const each of document.querySelectorAll("article :not(pre, h1, h2, h3, h4) > code")) {
    const walk = document.createTreeWalker(each, NodeFilter.SHOW_TEXT);
    // A browser may break behind a slash or a bracket, and it has to break what is longer than a
    // line. Names with a hyphen are kept whole where they are all of the code (site_pages.py).
    const words = /^[\w.-]{2,30}$/.test(each.textContent) ? /[\w.-]+/g : /\w+/g;
    const long = each.closest("td, th") ? Infinity : 36;
    if (each.textContent.split(" ").some((part) => part.length > long)) continue;
    while (walk.nextNode()) {
      for (const word of walk.currentNode.data.matchAll(words)) {
        range.setStart(walk.currentNode, word.index);
        range.setEnd(walk.currentNode, word.index + word[0].length);
        if (new Set([...range.getClientRects()].map((box) => box.top)).size > 1) found.push(word[0]);
      }
    }
  }
  return found;
}

// Texts whose contrast with what lies behind them is below that of WCAG 2.2: 4.5, or 3 if they are large.
function faint() {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const known = new Map();

  // A colour as numbers, in whatever notation the browser computed it.
  function rgba(color) {
    if (!known.has(color)) {
      canvas.clearRect(0, 0, 1, 1);
      canvas.fillStyle = color;
      canvas.fillRect(0, 0, 1, 1);
      const [red, green, blue, alpha] = canvas.getImageData(0, 0, 1, 1).data;
      known.set(color, [red, green, blue, alpha / 255]);
    }
    return [...known.get(color)];
  }

  const over = (top, under) =>
    [0, 1, 2].map((at) => top[at] * top[3] + under[at] * (1 - top[3])).concat(1);

  function light(color) {
    const [red, green, blue] = color
      .map((value) => value / 255)
      .map((value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4));
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  }

  function behind(element) {
    const layers = [];
    for (let each = element; each; each = each.parentElement) {
      const color = rgba(getComputedStyle(each).backgroundColor);
      if (color[3] > 0) layers.push(color);
      if (color[3] === 1) break;
    }
    return layers.reverse().reduce((under, top) => over(top, under), [255, 255, 255, 1]);
  }

  const found = new Map();
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const element = walk.currentNode.parentElement;
    const text = walk.currentNode.data.trim();
    if (!text || element.closest("script, style, noscript, title")) continue;
    if (!element.checkVisibility({ opacityProperty: true, visibilityProperty: true })) continue;
    const style = getComputedStyle(element);
    let under = behind(element);
    let ink = style.color;
    if (element.namespaceURI.endsWith("svg")) {
      ink = style.fill;
      const before = element.previousElementSibling; // a word upon a bar comes right behind the bar
      if (before?.tagName === "rect" && element.getAttribute("text-anchor") === "middle") {
        under = over(rgba(getComputedStyle(before).fill), under);
      }
    }
    const top = rgba(ink);
    top[3] *= Number(style.opacity);
    const [one, other] = [light(over(top, under)), light(under)];
    const ratio = (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
    const size = parseFloat(style.fontSize);
    const large = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
    if (ratio < (large ? 3 : 4.5)) {
      const colours = `${ink} on ${under.slice(0, 3).map(Math.round)}`;
      found.set(colours, `${ratio.toFixed(2)} ${text.slice(0, 40)}`);
    }
  }
  return [...found].map((each) => each.join(": "));
}
