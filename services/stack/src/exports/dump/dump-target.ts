// Where dumps are written to: a folder or a bucket. Names are paths with `/`.

/** One process at a time writes. */
export interface DumpTarget extends Disposable {
  /** Undefined if there is no such file. */
  read(name: string): Promise<string | undefined>;
  /** Removes a manifest, then all files below the folders, and what an interrupted dump left. */
  remove(manifest: string, folders: readonly string[]): Promise<void>;
  /** Copies a local file; it is complete and durable when this resolves. */
  put(
    name: string,
    file: { readonly path: string; readonly sizeBytes: number; readonly sha256: string },
  ): Promise<void>;
  /** After all files of the folders: writes the manifest, by which readers find them. */
  complete(manifest: string, text: string, folders: readonly string[]): Promise<void>;
}
