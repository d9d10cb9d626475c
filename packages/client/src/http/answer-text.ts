// Decodes answers as text and JSON objects; undefined for anything else.

/** Strict UTF-8, so that encoding the text gives the same bytes; a byte order mark is kept. */
export function textOf(content: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(content);
  } catch {
    return undefined;
  }
}

/** The JSON object of a text. */
export function objectOf(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
    return value as Record<string, unknown>;
  } catch {
    return undefined;
  }
}
