// Parses JSON of publishers after a check of its structure: brackets alone can exhaust the memory.

/** Documents of publishers have about ten levels. */
const MAX_DEPTH = 200;
/** Arrays and objects: 64 MiB of `[` take 2.6 GiB to parse. The largest page of the NVD has about a hundred thousand. */
const MAX_ELEMENTS = 4_000_000;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** Throws SyntaxError for invalid JSON, and RangeError above the limits of depth and elements. */
export function readJson(body: Buffer): unknown {
  checkStructure(body);
  return JSON.parse(body.toString('utf8')) as unknown;
}

function checkStructure(body: Buffer): void {
  let depth = 0;
  let elements = 0;
  for (let at = 0; at < body.length; at += 1) {
    const byte = body[at];
    if (byte === QUOTE) at = endOfText(body, at);
    else if (byte === OPEN_LIST || byte === OPEN_OBJECT) {
      depth += 1;
      elements += 1;
      if (depth > MAX_DEPTH || elements > MAX_ELEMENTS) throw new RangeError('too deep, or of too many elements');
    } else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) depth -= 1;
  }
}

/** The position of the closing quote; without one, the end of the document. */
function endOfText(body: Buffer, from: number): number {
  for (let at = body.indexOf(QUOTE, from + 1); at !== -1; at = body.indexOf(QUOTE, at + 1)) {
    let backslashes = 0;
    while (body[at - 1 - backslashes] === BACKSLASH) backslashes += 1;
    if (backslashes % 2 === 0) return at;
  }
  return body.length;
}
