// One small simulated internet for all test files of a process: it costs the most of what a service needs.
import { after } from 'node:test';
import type { Internet } from '@strata/testnet';
import { smallInternet } from '../../services/stack/src/test/harness.ts';

let opened: Promise<Internet> | undefined;
after(async () => (await opened)?.[Symbol.asyncDispose]());

/** Forty companies. A test that moves companies takes those that it moves from what `moveDns` returns. */
export function sharedInternet(): Promise<Internet> {
  opened ??= smallInternet();
  return opened;
}
