// A checkpoint that a log shows to its witnesses, and the cosignatures that it has received.
import { savedCheckpointOf } from '../files/checkpoint-file.ts';
import type { Log, PublishedCheckpoint } from '../log.ts';
import { LogError } from '../log-error.ts';
import { ServedTiles } from '../publication/served-tiles.ts';
import type { WitnessClient } from './witness-client.ts';

/** A checkpoint that is shown to witnesses. */
export interface Round extends PublishedCheckpoint {
  readonly tiles: ServedTiles;
  /** The cosignatures on its text, those that came late too. */
  readonly lines: Map<WitnessClient, string>;
  /** Resolved when they are as many as required. */
  readonly enough: PromiseWithResolvers<void>;
}

/** Of the log's newest checkpoint, without cosignatures. */
export function roundOf(log: Log): Round {
  const note = log.checkpoint();
  const checkpoint = savedCheckpointOf(note)?.checkpoint;
  if (!checkpoint) throw new LogError('corrupt-checkpoint', 'the log serves something that is not a checkpoint');
  const { size, root } = checkpoint;
  const tiles = new ServedTiles((path) => log.read(path), size);
  return { size, root, note, tiles, lines: new Map(), enough: Promise.withResolvers() };
}
