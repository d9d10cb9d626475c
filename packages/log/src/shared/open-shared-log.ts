// Opens the log of a database: verifies its head, its edge, and its consistency with what this node has published.
import { equalBytes, treeRoot } from '@strata/receipts';
import { readCheckpointFile } from '../files/checkpoint-file.ts';
import { removeLeftOvers } from '../files/durable-file.ts';
import { LogError, otherOriginText } from '../log-error.ts';
import { hashesOf } from '../publication/published-tree.ts';
import { TreeEdge } from '../tree/tree-edge.ts';
import { checkHead, signedHead } from './shared-head.ts';
import { SharedLog, type SharedLogOptions } from './shared-log.ts';
import { SharedTree } from './shared-tree.ts';

/**
 * Opens the log of a database, creating an empty one if needed. Rejects with LogError (`wrong-origin`, `wrong-key`,
 * `corrupt-checkpoint`, `corrupt-tile`, `lost-leaves`, `forked`), or with the error of the database.
 */
export async function openSharedLog(options: SharedLogOptions): Promise<SharedLog> {
  const { origin, keys, storage, checkpointFile } = options;
  const served = checkpointFile === undefined ? undefined : (await readCheckpointFile(checkpointFile))?.checkpoint;
  if (served && served.origin !== origin) {
    throw new LogError('wrong-origin', otherOriginText(checkpointFile ?? '', served.origin, origin));
  }
  const head = (await storage.heads.head()) ?? (served?.size ? undefined : await begin(options));
  if (!head || head.size < (served?.size ?? 0)) {
    throw new LogError(
      'lost-leaves',
      `the database has ${head?.size ?? 0} leaves of the log, but ${served?.size} were published: restore a newer backup`,
    );
  }
  await checkHead(head, origin, keys);
  const tree = new SharedTree(storage.rows);
  const rootAt = (size: number) => treeRoot(hashesOf(tree, size), size);
  if (!equalBytes(await rootAt(head.size), head.root)) {
    throw new LogError('corrupt-tile', 'the hashes in the database do not match the root of the log');
  }
  if (served && !equalBytes(await rootAt(served.size), served.root)) {
    throw new LogError(
      'forked',
      `the tree of ${served.size} leaves in the database differs from the checkpoint in ${checkpointFile}`,
    );
  }
  if (checkpointFile !== undefined) await removeLeftOvers(checkpointFile);
  return new SharedLog(options, tree, head);
}

const begin = ({ origin, keys, storage }: SharedLogOptions) =>
  storage.heads.begin(signedHead(origin, TreeEdge.empty, keys.signer));
