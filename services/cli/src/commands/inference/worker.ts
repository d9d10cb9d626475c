// `strata inference worker`: an engine of this machine, lent to the gateways of a network; says in plain words how that goes.
import { createLogger, startTracing } from '@strata/http';
import { serveWorker, type WorkerConfig, type WorkerEvent } from '@strata/worker';
import type { CommandContext } from '../../context.ts';
import { CommandError, counted, type OutputOptions, plainText } from '../../output.ts';

/** Serves until SIGINT or SIGTERM; what is under way then is finished, for ten seconds at most. */
export async function workerCommand(
  context: CommandContext,
  config: WorkerConfig,
  { json = false }: OutputOptions,
): Promise<void> {
  if (config.model === undefined)
    throw new CommandError('no model to lend: name a GGUF file or hf:owner/repository with --model or STRATA_MODEL', {
      exitCode: 2,
    });
  const search = { isJoining: config.peer.join.length > 0, isLanSearched: config.peer.isMdnsOn !== false };
  const serving = new Set<string>();
  const say = (news: WorkerEvent) => {
    if (news.kind === 'serving') serving.add(news.gateway);
    if (news.kind === 'left') serving.delete(news.gateway);
    const lines = json
      ? [JSON.stringify(factsOf(news))]
      : wordsOf(news, { ...search, isServing: serving.size > 0 }).map(plainText);
    context.stdout.write(`${lines.join('\n')}\n`);
  };
  await using _traces = await startTracing(context.env, 'strata-worker');
  await serveWorker(config, { logger: createLogger({ level: config.logLevel }, context.log), onNews: say });
}

function factsOf(news: WorkerEvent): object {
  const { kind: event, ...facts } = news;
  if (news.kind !== 'started') return { event, ...facts };
  const { name, engine } = news.model;
  const { sha256, quantisation, contextLength, slots } = engine.info;
  const model = { name, sha256, quantisation, context_length: contextLength, slots };
  return { event, peer: news.peer, addresses: news.addresses, model };
}

interface Search {
  readonly isJoining: boolean;
  readonly isLanSearched: boolean;
  /** At least one gateway. */
  readonly isServing: boolean;
}

const MEANWHILE = '; gateways that were found otherwise, or known from before, are served meanwhile';

function wordsOf(news: WorkerEvent, { isJoining, isLanSearched, isServing }: Search): readonly string[] {
  switch (news.kind) {
    case 'started': {
      const { name, engine } = news.model;
      const { quantisation, contextLength, slots } = engine.info;
      return [
        `lending ${name} (${quantisation}, ${contextLength} tokens of context, ${counted(slots, 'answer')} at once)`,
        `as ${news.peer}`,
        ...(isJoining
          ? []
          : [
              isLanSearched
                ? 'looking for gateways on this LAN; name one with --join to serve others'
                : 'looking for nobody: STRATA_MDNS is off, and no gateway is named with --join; only one that was reached before, or that dials this worker, is served',
            ]),
      ];
    }
    case 'joined':
      return [`joined the network at ${news.peers.join(', ')}`];
    case 'not-joined':
      return [`cannot reach ${news.target}: ${news.reason}; it is tried again${isServing ? MEANWHILE : ''}`];
    case 'serving':
      return [`serving gateway ${news.gateway}`];
    case 'left':
      return [`gateway ${news.gateway} is gone; it is looked for again`];
    case 'refusing':
      return [news.reason === undefined ? 'serving again' : `refusing what is asked: ${news.reason}`];
    case 'alone':
      return news.connected > 0
        ? [
            `connected to ${counted(news.connected, 'node')}, none of them a gateway that takes this worker; still looking`,
          ]
        : [
            'nobody of the network is reached yet; still looking. Start a gateway with --network: it prints how to join it',
          ];
    default:
      return news satisfies never;
  }
}
