// The bytes of each token, from the two spellings that vocabularies use: the only way to represent half a character.

export interface Vocabulary {
  /** `gpt2`: bytes as letters; `llama`: SentencePiece. */
  readonly model: string;
  readonly tokens: readonly string[];
  /** `llama_token_type`, by token. */
  readonly types: readonly number[];
}

const UNKNOWN = 2;
const CONTROL = 3;
const USER_DEFINED = 4;
const BYTE = 6;
/** Types that a template inserts as control tokens. */
const CONTROL_TYPES = new Set([UNKNOWN, CONTROL, USER_DEFINED]);
const utf8 = new TextEncoder();

/** Bytes of every token; control tokens have none. Undefined for a vocabulary with another spelling. */
export function tokenBytes({ model, tokens, types }: Vocabulary): readonly Uint8Array[] | undefined {
  const spell = model === 'gpt2' ? lettersToBytes : model === 'llama' ? piecesToBytes : undefined;
  if (!spell) return undefined;
  return tokens.map((text, token) => {
    if (types[token] === CONTROL) return new Uint8Array();
    return types[token] === USER_DEFINED ? utf8.encode(text) : spell(text, types[token] === BYTE);
  });
}

/** Texts with which a template controls the model, longest first: in user text they must stay plain text. */
export function controlTexts({ tokens, types }: Vocabulary): readonly string[] {
  return tokens
    .filter((text, token) => text !== '' && CONTROL_TYPES.has(types[token] ?? 0))
    .sort((a, b) => b.length - a.length);
}

/** GPT-2 spells each byte as a printable letter: itself where possible, otherwise one from 256 on. */
const byteOfLetter = new Map<string, number>();
{
  const isPrintable = (byte: number) => (byte > 0x20 && byte < 0x7f) || (byte > 0xa0 && byte !== 0xad && byte < 0x100);
  let next = 0x100;
  for (let byte = 0; byte < 0x100; byte += 1)
    byteOfLetter.set(String.fromCharCode(isPrintable(byte) ? byte : next++), byte);
}

function lettersToBytes(text: string): Uint8Array {
  const bytes = [];
  for (const letter of text) {
    const byte = byteOfLetter.get(letter);
    // Added tokens are plain text.
    if (byte === undefined) return utf8.encode(text);
    bytes.push(byte);
  }
  return Uint8Array.from(bytes);
}

function piecesToBytes(text: string, isByte: boolean): Uint8Array {
  const byte = isByte ? /^<0x([0-9A-F]{2})>$/.exec(text) : null;
  return byte ? Uint8Array.of(Number.parseInt(byte[1] ?? '', 16)) : utf8.encode(text.replaceAll('▁', ' '));
}
