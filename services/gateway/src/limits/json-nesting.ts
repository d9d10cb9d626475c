// The nesting depth of a JSON text, checked before it is parsed, to protect recursive code from stack overflow.

const [QUOTE, BACKSLASH] = [0x22, 0x5c];
const OPEN = new Set([0x5b, 0x7b]);
const CLOSE = new Set([0x5d, 0x7d]);

/** Whether arrays and objects nest deeper than `max`. Stops at the first level above it. */
export function nestsDeeper(json: Uint8Array, max: number): boolean {
  let depth = 0;
  let isText = false;
  for (let i = 0; i < json.length; i += 1) {
    const byte = json[i] as number;
    if (isText) {
      if (byte === BACKSLASH) i += 1;
      else if (byte === QUOTE) isText = false;
    } else if (byte === QUOTE) isText = true;
    else if (OPEN.has(byte)) {
      depth += 1;
      if (depth > max) return true;
    } else if (CLOSE.has(byte)) depth -= 1;
  }
  return false;
}
