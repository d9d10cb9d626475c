// The parts of a checkpoint: a signed note (c2sp.org/tlog-checkpoint, c2sp.org/signed-note).

export interface CheckpointParts {
  readonly origin: string;
  /** Receipts in the ledger; as text, since it may be greater than a number holds exactly. */
  readonly size: string;
  /** In base64, as it stands there. */
  readonly root: string;
  readonly signers: readonly string[];
}

/** Undefined where it is no checkpoint. Reads only: signatures are checked with a receipt. */
export function readCheckpoint(text: string): CheckpointParts | undefined {
  const end = text.lastIndexOf('\n\n');
  const [origin = '', size = '', root = ''] = text.slice(0, Math.max(end, 0)).split('\n');
  const signers = [...text.slice(end).matchAll(/^— (\S+) \S+$/gm)].map(([, name = '']) => name);
  const isRead = origin !== '' && /^(?:0|[1-9]\d*)$/.test(size) && /^[A-Za-z0-9+/]{43}=$/.test(root);
  return isRead && signers.length > 0 ? { origin, size, root, signers } : undefined;
}
