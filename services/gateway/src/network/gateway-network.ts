// The gateway on the network: one host, the workers that come to it, what they offer, and the models that follow from that.
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { openVocabulary, type Vocabulary } from '@strata/engine';
import { Directory, fromHex, GATEWAY_KEY, type ModelGroup, OFFERS_TOPIC, PROTOCOL } from '@strata/inference';
import { createJoinToken, type PeerNode, peerNodeOptions, startPeerNode } from '@strata/p2p';
import type { Store } from '@strata/store';
import type { Logger } from 'pino';
import type { Models } from '../models.ts';
import { VERSION } from '../version.ts';
import type { NetworkConfig } from './network-config.ts';
import { createNetworkEngine } from './network-engine.ts';
import { NetworkModels } from './network-models.ts';
import { type NetworkReport, networkReport } from './network-report.ts';
import { Offers } from './offers.ts';
import { openSegmentBooks } from './open-segment-books.ts';
import { Sessions } from './sessions.ts';
import { Vocabularies } from './vocabularies.ts';
import { VocabularyCache } from './vocabulary-cache.ts';

export interface GatewayNetwork extends AsyncDisposable {
  readonly node: PeerNode;
  /** What a worker needs to join; a secret where the network is private. */
  joinToken(): string;
  report(): NetworkReport;
}

export interface GatewayNetworkOptions {
  readonly config: NetworkConfig;
  /** Where peer key and vocabularies are kept. */
  readonly directory: string;
  /** Answers of each model that may wait. */
  readonly queue: number;
}

export interface GatewayNetworkParts {
  /** Models of the network are added to them. */
  readonly models: Models;
  readonly store: Pick<Store, 'segments' | 'standings'>;
  readonly logger: Logger;
  readonly now: () => Date;
}

const SOFTWARE = `strata-gateway/${VERSION}`;
