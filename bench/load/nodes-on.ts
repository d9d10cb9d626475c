// Nodes on one database, each a process in its role with a data directory of its own.
import { cp } from 'node:fs/promises';
import path from 'node:path';
import { rotateSigningKeys } from '@strata/log';
import { temporaryDirectory } from '../../tests/support/temporary-directory.ts';
import { type Child, startChild } from '../measure.ts';
import type { NodeOptions, ReadyNode } from './node-process.ts';

export interface LoadedNode extends AsyncDisposable {
  readonly role: Role;
  readonly child: Child<ReadyNode>;
  /** Of its API, where it has one. */
  readonly base: string;
}

type Role = 'all' | 'api' | 'scanner' | 'scheduler';

export interface NodesOn extends AsyncDisposable {
  /** Ended in reverse order of the start, with the nodes at the latest. */
  start(role: Role, options?: Partial<NodeOptions>): Promise<LoadedNode>;
}

export async function nodesOn(databaseUrl: string): Promise<NodesOn> {
  await using stack = new AsyncDisposableStack();
  const { path: directory } = stack.use(await temporaryDirectory());
  // One ledger of all has one key.
  const keys = path.join(directory, 'of-all');
  await rotateSigningKeys(keys, () => new Date(), { origin: 'bench.test/stack' });
  let count = 0;
  const owned = stack.move();
  return {
    async start(role, { settings: more, ...options } = {}) {
      count += 1;
      const own = path.join(directory, `${role}-${count}`);
      await cp(path.join(keys, 'keys'), path.join(own, 'keys'), { recursive: true });
      const settings = {
        ...{ STRATA_DATA: own, STRATA_DATABASE_URL: databaseUrl, STRATA_ROLE: role },
        ...{ STRATA_ADVISORIES: 'off', STRATA_FEEDS: 'off', ...more },
      };
      const process = new URL('./node-process.ts', import.meta.url);
      const child = owned.use(await startChild<ReadyNode>(process, { ...options, settings }));
      const base = `http://127.0.0.1:${child.ready.port}`;
      return { role, child, base, [Symbol.asyncDispose]: () => child[Symbol.asyncDispose]() };
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}
