// Parses a checkpoint: a signed note (c2sp.org/tlog-checkpoint, c2sp.org/signed-note).

interface CheckpointParts {
  readonly origin: string;
  /** Number of receipts in the ledger; a string, since it may exceed `Number.MAX_SAFE_INTEGER`. */
  readonly size: string;
  /** Base64, as in the checkpoint. */
  readonly root: string;
  readonly signers: readonly string[];
}

/** Undefined if the text is not a checkpoint. Signatures are not verified here, but with a receipt. */
export function readCheckpoint(text: string): CheckpointParts | undefined {
  const end = text.lastIndexOf('\n\n');
  const [origin = '', size = '', root = ''] = text.slice(0, Math.max(end, 0)).split('\n');
  const signers = [...text.slice(end).matchAll(/^— (\S+) \S+$/gm)].map(([, name = '']) => name);
  const isRead = origin !== '' && /^(?:0|[1-9]\d*)$/.test(size) && /^[A-Za-z0-9+/]{43}=$/.test(root);
  return isRead && signers.length > 0 ? { origin, size, root, signers } : undefined;
}
