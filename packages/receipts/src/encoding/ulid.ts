// ULIDs: 48 bits of time and 80 of randomness in Crockford's base32, sortable by time.

const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const TIME_CHARACTERS = 10;
const RANDOM_BYTES = 10;

/** ULID of a time and at least 10 random bytes (the first 10 are used). */
export function ulid(now: Date, random: Uint8Array): string {
  if (random.length < RANDOM_BYTES) throw new RangeError(`a ULID needs ${RANDOM_BYTES} random bytes`);
  let time = now.getTime();
  let text = '';
  for (let at = 0; at < TIME_CHARACTERS; at++) {
    text = ALPHABET[time % 32] + text;
    time = Math.floor(time / 32);
  }
  // Twice five bytes are exactly eight characters.
  for (let start = 0; start < RANDOM_BYTES; start += 5) {
    let bits = 0;
    for (let at = start; at < start + 5; at++) bits = bits * 256 + (random[at] ?? 0);
    let group = '';
    for (let at = 0; at < 8; at++) {
      group = ALPHABET[bits % 32] + group;
      bits = Math.floor(bits / 32);
    }
    text += group;
  }
  return text;
}

/** Whether a text is a ULID in its upper-case form. */
export const isUlid = (text: string): boolean => /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/.test(text);
