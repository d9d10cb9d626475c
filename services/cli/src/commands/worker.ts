// `strata inference worker`: an engine of this machine, lent to the gateways of a network; says in plain words how that goes.
import { createLogger } from '@strata/http';
import { serveWorker, type WorkerConfig, type WorkerNews } from '@strata/worker';
import { CommandError, counted, type OutputOptions, plainText } from '../output.ts';

/** Serves until SIGINT or SIGTERM; what is under way then is finished, for ten seconds at most. */
export async function workerCommand(config: WorkerConfig, { json = false }: OutputOptions): Promise<void> {
  if (config.model === undefined)
    throw new CommandError('no model to lend: name a GGUF file or hf:owner/repository with --model or STRATA_MODEL', {
      exitCode: 2,
    });
  const isJoining = config.peer.join.length > 0;
  const say = (news: WorkerNews) => {
    const lines = json ? [JSON.stringify(factsOf(news))] : wordsOf(news, isJoining).map(plainText);
    process.stdout.write(`${lines.join('\n')}\n`);
  };
  await serveWorker(config, { logger: createLogger({ level: config.logLevel }), onNews: say });
}

function factsOf(news: WorkerNews): object {
  const { kind: event, ...facts } = news;
  if (news.kind !== 'started') return { event, ...facts };
  const { name, engine } = news.model;
  const { sha256, quantisation, contextLength, slots } = engine.info;
  const model = { name, sha256, quantisation, context_length: contextLength, slots };
  return { event, peer: news.peer, addresses: news.addresses, model };
}

function wordsOf(news: WorkerNews, isJoining: boolean): readonly string[] {
  switch (news.kind) {
    case 'started': {
      const { name, engine } = news.model;
      const { quantisation, contextLength, slots } = engine.info;
      return [
        `lending ${name} (${quantisation}, ${contextLength} tokens of context, ${counted(slots, 'answer')} at once)`,
        `as ${news.peer}`,
        ...(isJoining ? [] : ['looking for gateways on this LAN; name one with --join to serve others']),
      ];
    }
    case 'joined':
      return [`joined the network at ${news.peers.join(', ')}`];
    case 'not-joined':
      return [`cannot reach ${news.target}: ${news.reason}; it is tried again`];
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
