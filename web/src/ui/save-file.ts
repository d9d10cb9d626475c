// Saves content that a page has as a file.

/** Starts a download. A plain link cannot send the API key header that the service requires. */
export function saveFile(name: string, content: BlobPart, type: string): void {
  const url = URL.createObjectURL(new Blob([content], { type }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  // Revoked with a delay, after the download has started.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
