// `strata inference worker`: serves a model of this machine to the gateways of a network, and prints events.
import { createLogger, startTracing } from '@strata/http';
import { serveWorker, type WorkerConfig, type WorkerEvent } from '@strata/worker';
import type { CommandContext } from '../../context.ts';
import { usageError } from '../../errors.ts';
import { counted, type OutputOptions, plainText } from '../../output.ts';

/** Serves until SIGINT or SIGTERM; requests in progress then get up to ten seconds to finish. */
export async function workerCommand(
  context: CommandContext,
  config: WorkerConfig,
  { json = false }: OutputOptions,
): Promise<void> {
  if (config.models.length === 0)
    throw usageError('no model: set --model or STRATA_MODEL to a GGUF file or hf:owner/repository');
  const search = { isJoining: config.peer.join.length > 0, isLanSearched: config.peer.isMdnsOn !== false };
  const serving = new Set<string>();
  const print = (event: WorkerEvent) => {
    if (event.kind === 'serving') serving.add(event.gateway);
    if (event.kind === 'left') serving.delete(event.gateway);
    const lines = json
      ? [JSON.stringify(jsonOf(event))]
      : linesOf(event, { ...search, isServing: serving.size > 0 }).map(plainText);
    context.stdout.write(`${lines.join('\n')}\n`);
  };
  await using _traces = await startTracing(context.env, 'strata-worker');
  await serveWorker(config, { logger: createLogger({ level: config.logLevel }, context.log), onEvent: print });
}

function jsonOf(occurred: WorkerEvent): object {
  const { kind: event, ...details } = occurred;
  if (occurred.kind !== 'started') return { event, ...details };
  const models = occurred.models.map(({ name, engine }) => {
    const { sha256, quantisation, contextLength, slots } = engine.info;
    return { name, sha256, quantisation, context_length: contextLength, slots };
  });
  return { event, peer: occurred.peer, addresses: occurred.addresses, model: models[0], models };
}

interface Search {
  readonly isJoining: boolean;
  readonly isLanSearched: boolean;
  /** Whether at least one gateway is served. */
  readonly isServing: boolean;
}

function linesOf(event: WorkerEvent, { isJoining, isLanSearched, isServing }: Search): readonly string[] {
  switch (event.kind) {
    case 'started': {
      return [
        ...event.models.map(({ name, engine: { info } }) => {
          const { quantisation, contextLength, slots, engine, lacks = [] } = info;
          const limits = lacks.length === 0 ? '' : `; ${engine}, without ${lacks.join(', ')}`;
          return `model ${name} (${quantisation}, context of ${contextLength} tokens, ${counted(slots, 'slot')}${limits})`;
        }),
        `peer ${event.peer}`,
        ...(isJoining
          ? []
          : [
              isLanSearched
                ? 'searching for gateways on the LAN; use --join for a gateway elsewhere'
                : 'not searching for gateways: STRATA_P2P has mdns=off and --join is not set; the worker serves only known gateways and those that connect to it',
            ]),
      ];
    }
    case 'joined':
      return [`joined the network at ${event.peers.join(', ')}`];
    case 'not-joined':
      return [
        `cannot reach ${event.target}: ${event.reason}; retrying${isServing ? '. Other gateways are served in the meantime' : ''}`,
      ];
    case 'serving':
      return [`serving gateway ${event.gateway}`];
    case 'left':
      return [`disconnected from gateway ${event.gateway}; reconnecting`];
    case 'refusing':
      return [event.reason === undefined ? 'accepting requests again' : `refusing requests: ${event.reason}`];
    case 'alone':
      return event.connected > 0
        ? [`connected to ${counted(event.connected, 'node')}, but no gateway accepts this worker yet; still searching`]
        : ['no node found yet; still searching. To start a gateway: strata inference gateway --network'];
    default:
      return event satisfies never;
  }
}
