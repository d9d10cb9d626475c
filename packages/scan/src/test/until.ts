// Waits for a condition, however busy the machine is.

/** Resolves when `isSo` holds. @throws Error after 30 s. */
export async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  for (const limit = performance.now() + 30_000; !(await isSo()); ) {
    if (performance.now() > limit) throw new Error(`not so after 30 s: ${isSo}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
