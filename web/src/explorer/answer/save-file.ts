// Saves files from memory: a plain link cannot send the API key header that the service requires.

/** Starts a download of a text. */
export function saveFile(name: string, text: string, type: string): void {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  // Revoked with a delay, after the download has started.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

/** The receipt id in the `Stack-Provenance` header; undefined if that is not a receipt. */
export function receiptIdOf(provenance: string): string | undefined {
  try {
    const { receipt_id: id } = JSON.parse(provenance) as { readonly receipt_id?: unknown };
    return typeof id === 'string' ? id : undefined;
  } catch {
    return undefined;
  }
}
