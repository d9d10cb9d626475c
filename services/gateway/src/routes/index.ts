// The API: every route, in the order of its description. The ledger's routes are added to them in server.ts.

import { changeKey, createAdminKey, getAdminKey, listKeys, revokeKey, rotateKey } from './admin/keys.ts';
import { listPrices, listTeams, removePrice, removeTeam, setPrice, setTeam } from './admin/teams.ts';
import { getUsage, getUsageCsv, listAudit } from './admin/usage.ts';
import { getHealth, getOpenApi, getReady } from './health.ts';
import { createKey } from './keys.ts';
import { getNetwork } from './network.ts';
import { getKeySet, getReceipt } from './receipts.ts';
import type { Route } from './route.ts';
import { createChatCompletion, createCompletion, deleteChatCompletion, getChatCompletion } from './v1/completions.ts';
import { createEmbeddings } from './v1/embeddings.ts';
import { getModel, getModels } from './v1/models.ts';
import { cancelResponse, createResponse, deleteResponse, getResponse } from './v1/responses.ts';

export const routes: readonly Route[] = [
  createChatCompletion,
  getChatCompletion,
  deleteChatCompletion,
  createCompletion,
  createResponse,
  getResponse,
  deleteResponse,
  cancelResponse,
  createEmbeddings,
  getModels,
  getModel,
  getReceipt,
  createKey,
  ...[listKeys, createAdminKey, getAdminKey, changeKey, rotateKey, revokeKey],
  ...[listTeams, setTeam, removeTeam, listPrices, setPrice, removePrice],
  ...[getUsage, getUsageCsv, listAudit],
  getNetwork,
  getHealth,
  getReady,
  getOpenApi,
  getKeySet,
];
