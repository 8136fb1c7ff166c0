// What the daemon is asked.

const PATIENCE_MILLISECONDS = 30_000;
const TOO_MANY = [429, 503];
const ATTEMPTS = 3;
const PAUSE_MILLISECONDS = 500;

export class ApiError extends Error {}

/** The JSON document of a path with parameters. ApiError says why there is none. */
export async function ask(name, parameters = {}) {
  const query = new URLSearchParams(parameters).toString();
  const answer = await patiently(`/api/v1/${name}${query ? `?${query}` : ""}`);
  let document = {};
  try {
    document = await answer.json();
  } catch {
    // Not from the daemon itself, as its refusals are.
  }
  if (!answer.ok) throw new ApiError(document.error ?? `the daemon answers ${answer.status}`);
  return document;
}

/** Where too many ask at once, again a little later. */
async function patiently(address) {
  for (let attempt = 0; ; attempt += 1) {
    let answer;
    try {
      answer = await fetch(address, { signal: AbortSignal.timeout(PATIENCE_MILLISECONDS) });
    } catch {
      throw new ApiError("the daemon does not answer");
    }
    if (!TOO_MANY.includes(answer.status) || attempt === ATTEMPTS) return answer;
    await new Promise((done) => setTimeout(done, PAUSE_MILLISECONDS * 2 ** attempt));
  }
}

/** The numbers of a packed matrix, row by row. */
export function unpack({ base64, shape }) {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at += 1) bytes[at] = text.charCodeAt(at);
  return { values: new Float32Array(bytes.buffer), rows: shape[0], columns: shape[1] };
}
