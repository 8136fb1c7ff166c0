// Elements. What comes from jobs gets into the page as text, and never as markup.

const SVG = "http://www.w3.org/2000/svg";

/** An element; `attributes` are set by name, functions listen, `style` is an object. Null children are left out. */
export function el(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

/** The same for a picture. */
export function svg(tag, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") node.addEventListener(name.slice(2), value);
    else if (name === "style") Object.assign(node.style, value);
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  node.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

/** Put other children in place of those that are there; what had the focus keeps it, known by its `data-key`. */
export function replace(node, ...children) {
  const key = node.contains(document.activeElement) ? document.activeElement.dataset.key : undefined;
  node.replaceChildren(...children.flat(Infinity).filter(Boolean));
  if (key === undefined) return;
  for (const each of node.querySelectorAll("[data-key]")) {
    if (each.dataset.key === key) return each.focus({ preventScroll: true });
  }
}

/** Why some of what is shown may be missing; nothing where none is. */
export function missing(why, tag = "p") {
  return why ? el(tag, { class: "fault" }, `Some may be missing: ${why}`) : null;
}

/** A table; `columns` are [title, class]. On a phone each row is a card that repeats the titles. */
export function table(caption, columns, rows, attributes = {}) {
  const head = el("tr", {}, columns.map(([title, kind]) => el("th", { scope: "col", class: kind }, title)));
  const body = rows.map((row) => {
    const { cells, ...more } = Array.isArray(row) ? { cells: row } : row;
    return el("tr", more, cells.map((cell, at) => {
      const [title, kind] = columns[at];
      return el(at === 0 ? "th" : "td", { class: kind, scope: at === 0 ? "row" : null, "data-title": title }, cell);
    }));
  });
  return el("table", attributes, el("caption", { class: "hidden" }, caption), el("thead", {}, head), el("tbody", {}, body));
}

/** A group of choices of which one holds; `choose` is told when another does. */
export function choices(legend, name, options, chosen, choose) {
  return el("fieldset", { class: "choices" }, el("legend", { class: "hidden" }, legend), options.map(([value, label]) =>
    el("label", {}, el("input", {
      type: "radio", name, value, checked: value === chosen, "data-key": `${name}:${value}`, onchange: () => choose(value),
    }), el("span", {}, label))));
}
