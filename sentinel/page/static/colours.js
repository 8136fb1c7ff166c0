// Colours of numbers. Blue, orange and yellow are told apart with any kind of colour vision; so are light and dark.

const DARK = matchMedia("(prefers-color-scheme: dark)");
const STEPS = 256;
const RAMPS = {
  light: {
    lateness: ["#023858", "#0570b0", "#74a9cf", "#f4f4f2", "#fdb863", "#d95f02", "#7f2704"],
    duration: ["#f7fbff", "#c6dbef", "#7ba7d0", "#3f6fa8", "#1d3f72", "#0b1d3e"],
  },
  dark: {
    lateness: ["#b3e2ff", "#4fa8e0", "#1f5f8f", "#22272e", "#9a5310", "#f08c2e", "#ffe3b0"],
    duration: ["#1b2430", "#204a6e", "#2f78a6", "#5aa9c9", "#a6d8dc", "#fdf6c8"],
  },
};
/** Okabe and Ito (2008), in an order in which neighbours differ most; dark yellow and black are left out. */
const LINES = { light: ["#0072b2", "#d55e00", "#009e73", "#a6568a", "#8a6d00", "#3d7ea6"], dark: ["#56b4e9", "#ff8c42", "#2fcf9b", "#e79bc6", "#f0c84a", "#9ad0f5"] };

export const isDark = () => DARK.matches;

/** Call when light becomes dark or the other way; gives what ends that. */
export function onTheme(change) {
  DARK.addEventListener("change", change);
  return () => DARK.removeEventListener("change", change);
}

export function line(at) {
  const colours = LINES[isDark() ? "dark" : "light"];
  return colours[at % colours.length];
}

export function style(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

/** 256 colours as the bytes of pixels, for a quantity. */
export function ramp(quantity) {
  const stops = RAMPS[isDark() ? "dark" : "light"][quantity].map((text) => [1, 3, 5].map((at) => parseInt(text.slice(at, at + 2), 16)));
  const colours = new Uint32Array(STEPS);
  for (let step = 0; step < STEPS; step += 1) {
    const place = (step / (STEPS - 1)) * (stops.length - 1);
    const below = Math.min(Math.floor(place), stops.length - 2);
    const [red, green, blue] = stops[below].map((from, part) => Math.round(from + (place - below) * (stops[below + 1][part] - from)));
    colours[step] = (255 << 24) | (blue << 16) | (green << 8) | red;
  }
  return colours;
}

/** How numbers become places in the ramp, and what the ramp's ends and middle mean, in seconds. */
export function scaleOf(quantity, values, rows, columns) {
  // A rank that stands out for a twentieth of the time sets an end of the scale, however many others there are.
  const high = [];
  const low = [];
  for (let row = 0; row < rows; row += 1) {
    const own = values.subarray(row * columns, (row + 1) * columns).filter((value) => value === value).sort();
    if (!own.length) continue;
    high.push(quantile(own, 0.95));
    low.push(quantile(own, 0.05));
  }
  const most = high.reduce((one, other) => Math.max(one, other), -Infinity);
  const least = low.reduce((one, other) => Math.min(one, other), Infinity);
  if (quantity === "lateness") {
    // What is usual for half of the ranks stays pale; from there on the colour grows with the logarithm.
    const sizes = high.map((value, at) => Math.max(value, -low[at])).sort((one, other) => one - other);
    const usual = quantile(sizes, 0.5) || 1e-7;
    const limit = Math.max(3 * usual, most, -least);
    const whole = Math.asinh(limit / usual);
    return { ends: [-limit, 0, limit], place: (value) => 0.5 + 0.5 * Math.max(-1, Math.min(1, Math.asinh(value / usual) / whole)) };
  }
  const [from, until] = high.length ? [least, most] : [0, 0];
  const width = until - from || 1e-9;
  return { ends: [from, (from + until) / 2, until], place: (value) => Math.min(1, Math.max(0, (value - from) / width)) };
}

function quantile(sorted, share) {
  return sorted.length ? sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] : 0;
}
