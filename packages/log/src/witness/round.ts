// A checkpoint that is sent to the witnesses, and the cosignatures received for it.
import { savedCheckpointOf } from '../files/checkpoint-file.ts';
import type { Log, PublishedCheckpoint } from '../log.ts';
import { LogError } from '../log-error.ts';
import { ServedTiles } from '../publication/served-tiles.ts';
import type { WitnessClient } from './witness-client.ts';

/** A checkpoint that is sent to witnesses. */
export interface Round extends PublishedCheckpoint {
  readonly tiles: ServedTiles;
  /** Cosignatures on its text, including late ones. */
  readonly lines: Map<WitnessClient, string>;
  /** Resolves when the required number is reached. */
  readonly enough: PromiseWithResolvers<void>;
}

/** A round for the log's newest checkpoint, without cosignatures. */
export function roundOf(log: Log): Round {
  const note = log.checkpoint();
  const checkpoint = savedCheckpointOf(note)?.checkpoint;
  if (!checkpoint) throw new LogError('corrupt-checkpoint', 'the log does not serve a valid checkpoint');
  const { size, root } = checkpoint;
  const tiles = new ServedTiles((path) => log.read(path), size);
  return { size, root, note, tiles, lines: new Map(), enough: Promise.withResolvers() };
}
