// A gateway on the demo's model, and the environment of a client with a key to it; the tests of a run share it.
import path from 'node:path';
import { readGatewayConfig, startGateway } from '@strata/gateway';
import { createLogger } from '@strata/http';
import { tinyChatModel } from '@strata/testnet';
import { shared } from '../../../../tests/support/shared.ts';
import { type Args, assertEnds, type RunOptions, temporaryDirectory } from './run-strata.ts';

export const model = path.basename(tinyChatModel, '.gguf');

/** Its key is unlimited, and labelled `mine`. */
export const testGateway = shared(async () => {
  await using stack = new AsyncDisposableStack();
  const { path: directory } = stack.use(await temporaryDirectory());
  const settings = { STRATA_DATA: directory, STRATA_INFERENCE_PORT: '0', STRATA_MODEL: tinyChatModel };
  const running = stack.use(await startGateway(readGatewayConfig(settings), createLogger({ level: 'silent' })));
  const { key } = await running.gateway.keys.create({ tier: 'unlimited', label: 'mine' });
  const url = `http://127.0.0.1:${running.port}/v1`;
  const owned = stack.move();
  return {
    ...{ directory, running },
    env: { STRATA_DATA: directory, STRATA_INFERENCE_URL: url, STRATA_INFERENCE_KEY: key },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
});

/** Runs a command of `strata inference`, by default with the key of the gateway. */
export async function inferenceEnds(args: Args, code: number, words: RegExp, options: RunOptions = {}) {
  const list = typeof args === 'string' ? args.split(' ') : args;
  return assertEnds(['inference', ...list], code, words, { env: (await testGateway()).env, ...options });
}

/** What such a command prints, which must end with 0. */
export const inference = async (args: Args, options?: RunOptions) =>
  (await inferenceEnds(args, 0, /^/, options)).stdout;
