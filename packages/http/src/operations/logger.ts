// Structured logs without secrets.
import pino, { type DestinationStream, type Logger } from 'pino';

/** Our API keys wherever they stand in a line: in an error's message, in a URL, under any name. */
const apiKeys = /\b(?:ssk_[A-Za-z0-9_-]+|sk-[A-Za-z0-9_-]{20,})/g;

/** A text that is logged, or told, without the API keys in it. */
export function withoutApiKeys(text: string): string {
  return text.replaceAll(apiKeys, '[secret]');
}

/**
 * What JSON leaves as it is and a terminal or an editor obeys: DEL and the C1 controls (U+009B begins an escape sequence as ESC
 * does), the separators of lines, and those that turn the direction of text.
 */
const obeyed = /[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/** They stand only within strings of a line, so an escape means the same. */
function asPrinted(line: string): string {
  return line.replaceAll(obeyed, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/**
 * Logs JSON lines, in which nothing that strangers sent ends a line or moves a cursor. API keys never appear, wherever they stand; nor do authorization and cookies, where they stand in headers
 * that are logged as a value of their own, as `headers` or as `x.headers`.
 */
export function createLogger(options: { readonly level: string }, destination?: DestinationStream): Logger {
  const secrets = ['x-stack-key', 'authorization', 'cookie', 'set-cookie'];
  const paths = secrets.flatMap((name) => [
    `["${name}"]`,
    `headers["${name}"]`,
    `*["${name}"]`,
    `*.headers["${name}"]`,
  ]);
  return pino(
    {
      level: options.level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      redact: { paths: [...paths, 'key'], censor: '[secret]' },
      hooks: { streamWrite: (line) => asPrinted(withoutApiKeys(line)) },
    },
    destination ?? pino.destination(2),
  );
}
