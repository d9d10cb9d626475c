// The health check.
import { route } from '@strata/http';
import { z } from 'zod';
import type { StackApp } from '../context.ts';
import { API_VERSION } from '../roles/api-info.ts';

export const getHealth = route(
  {
    method: 'GET',
    path: '/health',
    tag: 'Status',
    summary: 'Health check',
    output: { kind: 'signed', schema: z.object({ status: z.literal('ok'), version: z.string() }) },
    access: 'open',
    cache: () => ({ key: 'health', tags: [] }),
  },
  (_app: StackApp) => ({ status: 'ok', version: API_VERSION }) as const,
);
