// Opens the folder or bucket of a setting. Requests to a bucket end when the signal aborts.
import type { DumpTarget } from './dump-target.ts';
import type { DumpAddress } from './dump-url.ts';
import { FolderTarget } from './folder-target.ts';

export async function openTarget(address: DumpAddress, signal: AbortSignal): Promise<DumpTarget> {
  if (address.kind === 'folder') return new FolderTarget(address.folder);
  // Loaded when it is needed: the SDK takes a while.
  const { BucketTarget } = await import('./bucket-target.ts');
  return new BucketTarget(address, signal);
}
