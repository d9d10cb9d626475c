// Alerts and anomalies.
import { route } from '@strata/http';
import { z } from 'zod';
import { AnomalySchema, anomalyReport, Severity } from '../../alerts/anomaly-report.ts';
import type { StackApp } from '../../context.ts';
import { MAX_STALE_MS, tags } from '../../index/live-index.ts';
import { alertKey } from '../../store/index.ts';
import { datesOf, windowOf, windowParameters } from '../market/window.ts';
import { pageFields, pageOf, pageParameters } from '../paging.ts';
import { Text } from '../parameters.ts';
import { domainOf } from './domains.ts';

const AlertSchema = z
  .object({
    id: z.string(),
    at: z.iso.datetime(),
    kind: z.enum(['migration', 'anomaly', 'advisory', 'security']),
    severity: Severity,
    domain: z.string().optional(),
    provider: z.string().optional(),
    provider_id: z.string().optional(),
    title: z.string(),
    detail: z.string(),
    ref: z.string().describe('Path of the underlying data.'),
  })
  .meta({ id: 'Alert' });

const ALERTS = { name: 'alerts', key: z.tuple([z.int(), z.int(), z.int(), z.string().max(100)]).readonly() };
const ANOMALIES = { name: 'anomalies', key: z.tuple([z.int(), z.string().max(100)]).readonly() };

const MAX_DAYS = 365;
/** A window moves with time. */
const WINDOW_MS = 60_000;

/** The window of a request: its filter of the store, its form in the request, for the keys of answers and cursors, and how long an answer holds. */
function windowIn({ clock }: StackApp, { days, hours, since, until }: Parameters<typeof windowOf>[0]) {
  const window = windowOf({ days, hours, since, until }, { now: clock().getTime(), maxDays: Number.POSITIVE_INFINITY });
  return {
    dates: window ? datesOf(window) : {},
    form: [days, hours, since, until],
    age: window ? { maxAgeMs: WINDOW_MS } : {},
  };
}

export const getAlerts = route(
  {
    method: 'GET',
    path: '/stack/v1/alerts',
    tag: 'Monitoring',
    summary: 'Intelligence alerts: migrations and anomalies',
    description:
      'Known-exploited vulnerabilities in products of domains, mass migrations away from a provider, anomalies, and security regressions of domains. By day, newest first; within a day in this order, most severe first. A subject has at most one alert in seven days, with its latest figures; a vulnerability is reported again later only if a scan finds another exposed domain.',
    query: z.object({ ...windowParameters(MAX_DAYS), ...pageParameters(20) }),
    output: {
      kind: 'signed',
      schema: z.object({ total: z.int().min(0), ...pageFields, alerts: z.array(AlertSchema) }),
    },
    cache: (app: StackApp, { limit, cursor, ...input }) => {
      const { form, age } = windowIn(app, input);
      const key = `alerts ${JSON.stringify([limit, cursor, form])}`;
      return { key, tags: [...tags.alerts], maxStaleMs: MAX_STALE_MS, ...age };
    },
  },
  async (app, input) => {
    const { store, names } = app;
    const { dates, form } = windowIn(app, input);
    const page = pageOf(input, ALERTS, form);
    const { limit, after } = page.query;
    const { total, alerts } = await store.signals.alerts(limit, after, dates);
    const { rows, fields } = page.cut(alerts, alertKey);
    return {
      total,
      ...fields,
      alerts: rows.map(({ id, at, kind, severity, domain, provider, title, detail, ref }) => ({
        id,
        at: at.toISOString(),
        kind,
        severity,
        ...(domain === null ? {} : { domain }),
        ...(provider === null ? {} : { provider: names.nameOf(provider), provider_id: provider }),
        title,
        detail,
        ref,
      })),
    };
  },
);

export const getAnomalies = route(
  {
    method: 'GET',
    path: '/stack/v1/anomalies',
    tag: 'Monitoring',
    summary: 'Anomaly detection, 3-sigma deviations',
    description:
      'A day whose value is at least 3 standard deviations from the mean of the 28 days before it, of which at least 14 have data, and that is significant among all series tested that day. Newest first. Definitions: docs/anomalies.md.',
    query: z.object({
      domain: Text.describe('Only anomalies of this domain.').optional(),
      ...windowParameters(MAX_DAYS),
      ...pageParameters(50),
    }),
    output: {
      kind: 'signed',
      schema: z.object({
        total: z.int().min(0),
        ...pageFields,
        domain: z.string().optional(),
        method: z.string(),
        anomalies: z.array(AnomalySchema),
      }),
    },
    errors: ['invalid_domain'],
    cache: (app: StackApp, { domain, limit, cursor, ...input }, context) => {
      const { form, age } = windowIn(app, input);
      const key = `anomalies ${JSON.stringify([domain && domainOf(domain, context), limit, cursor, form])}`;
      return { key, tags: [...tags.anomalies], maxStaleMs: MAX_STALE_MS, ...age };
    },
  },
  async (app, input, context) => {
    const { store, names } = app;
    const filter = input.domain === undefined ? {} : { domain: domainOf(input.domain, context) };
    const { dates, form } = windowIn(app, input);
    const page = pageOf(input, ANOMALIES, [filter, form]);
    const { limit, after } = page.query;
    const { total, anomalies } = await store.signals.anomalies({ ...filter, ...dates }, limit, after);
    const { rows, fields } = page.cut(anomalies, ({ at, id }) => [at.getTime(), id] as const);
    return {
      total,
      ...fields,
      ...filter,
      method:
        'sigma = (value - mean) / max(stddev, sqrt(max(mean, 1))) over the 28 days before, at least 14 of them with data; |sigma| >= 3, |value - mean| >= 5, and significant among all series of the day',
      anomalies: rows.map((anomaly) => anomalyReport(anomaly, names)),
    };
  },
);
