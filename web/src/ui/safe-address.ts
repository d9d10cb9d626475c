// The allowed targets of untrusted links.

/** The URL if its scheme is http, https or mailto; otherwise an empty string. */
export function safeAddress(url: string): string {
  if (!URL.canParse(url)) return '';
  return /^(?:https?|mailto):$/.test(new URL(url).protocol) ? url : '';
}
