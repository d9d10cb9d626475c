// Files that the reader keeps: made in the page, since the service wants the key in a header that a plain link cannot send.

/** Hands a text to the browser as a download. */
export function saveFile(name: string, text: string, type: string): void {
  const address = URL.createObjectURL(new Blob([text], { type }));
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
  // The browser has read the address by the time the click returns; it is let go once the download has begun.
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}

/** The id in what the `Stack-Provenance` header says; undefined where that is no receipt. */
export function receiptIdOf(provenance: string): string | undefined {
  try {
    const { receipt_id: id } = JSON.parse(provenance) as { readonly receipt_id?: unknown };
    return typeof id === 'string' ? id : undefined;
  } catch {
    return undefined;
  }
}
