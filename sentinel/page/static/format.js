// Numbers and times as people read them; times are UTC.

const SECONDS = [[1e-6, 1e9, "ns"], [1e-3, 1e6, "us"], [1, 1e3, "ms"], [120, 1, "s"], [7200, 1 / 60, "min"]];
const DECIMAL = ["", "k", "M", "G", "T", "P"];

/** Three digits and the unit that suits them. */
export function seconds(value) {
  if (value === null || !Number.isFinite(value)) return "–";
  if (value === 0) return "0 s";
  const [, factor, unit] = SECONDS.find(([limit]) => Math.abs(value) < limit) ?? [0, 1 / 3600, "h"];
  return `${digits(value * factor)} ${unit}`;
}

export function ratio(value) {
  return value === null || !Number.isFinite(value) ? "–" : `${digits(value * 100)}%`;
}

export function rate(value) {
  if (value === null || !Number.isFinite(value)) return "–";
  let power = 0;
  while (Math.abs(value) >= 1000 && power < DECIMAL.length - 1) [value, power] = [value / 1000, power + 1];
  return `${digits(value)} ${DECIMAL[power]}B/s`;
}

export function digits(value) {
  return Number(value.toPrecision(3)).toString();
}

export function count(number, one, many = `${one}s`) {
  return `${number.toLocaleString("en")} ${number === 1 ? one : many}`;
}

/** `14:05:30`, with the day where it is not today's. */
export function clock(unix, now = Date.now() / 1000) {
  const text = new Date(unix * 1000).toISOString();
  const today = new Date(now * 1000).toISOString().slice(0, 10) === text.slice(0, 10);
  return (today ? "" : `${text.slice(0, 10)} `) + text.slice(11, 19);
}

/** Ticks of an axis: times of day, with seconds where the step is less than a minute, and the day where one begins. */
export function axisTime(unix, step) {
  const text = new Date(unix * 1000).toISOString();
  if (text.slice(11, 19) === "00:00:00") return text.slice(5, 10);
  return text.slice(11, step < 60 ? 19 : 16);
}

export function unix(instant) {
  return instant === null ? null : Date.parse(instant) / 1000;
}

/** Who a communicator is, in few words. */
export function commName(each) {
  return each.comm_name || each.comm;
}

/** A rank by its number in the job; by the communicator's where nobody tells that one. */
export function rankName({ global_rank: known, rank }) {
  return known === null ? `Rank ${rank} in the communicator` : `Rank ${known}`;
}

/** Where a rank is: `gpu-17 GPU 3`; empty where that is not known. */
export function placeName({ node, gpu }) {
  return [node, gpu && `GPU ${gpu}`].filter(Boolean).join(" ");
}

export function jobName(each) {
  return each.job_id || (each.job ? `without id (${each.job})` : "–");
}
