// Structured logs without secrets.
import pino, { type DestinationStream, type Logger } from 'pino';

/** Our API keys wherever they stand in a line: in an error's message, in a URL, under any name. */
const apiKeys = /\b(?:ssk_[A-Za-z0-9_-]+|sk-[A-Za-z0-9_-]{20,})/g;

/** A text that is logged, or told, without the API keys in it. */
export function withoutApiKeys(text: string): string {
  return text.replaceAll(apiKeys, '[secret]');
}

/**
 * Logs JSON lines. API keys never appear, wherever they stand; nor do authorization and cookies, where they stand in headers
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
      hooks: { streamWrite: withoutApiKeys },
    },
    destination ?? pino.destination(2),
  );
}
