// Segments: queries that the caller's key has saved under a name, for `segment:name` in later queries.
import { route } from '@strata/http';
import { z } from 'zod';
import type { StackApp } from '../../context.ts';
import type { Segment } from '../../store/index.ts';
import { pageFields, pageOf, pageParameters } from '../paging.ts';
import { refuseField } from '../parameters.ts';
import { QueryText, queryIn } from '../query-parameter.ts';
import { MAX_SEGMENTS } from './segments-in-queries.ts';

const common = { tag: 'Segments' } as const;
const path = '/stack/v1/segments/{name}';
const name = z
  .string()
  .regex(
    /^[a-z0-9][a-z0-9_-]{0,63}$/,
    'must have 1 to 64 characters a-z, 0-9, - and _, and begin with a letter or digit',
  );
const SegmentPath = z.object({ name });

const SegmentSchema = z.object({ name, query: z.string(), updated_at: z.iso.datetime() }).meta({ id: 'Segment' });
const WithSegment = z.object({ segment: SegmentSchema });

const segmentReport = ({ name, query, updatedAt }: Segment): z.input<typeof SegmentSchema> => ({
  name,
  query,
  updated_at: updatedAt.toISOString(),
});

const LIST = { name: 'segments', key: name };

export const getSegments = route(
  {
    ...common,
    method: 'GET',
    path: '/stack/v1/segments',
    summary: 'Segments of the key',
    description: 'In the order of names.',
    query: z.object(pageParameters(50)),
    output: { kind: 'signed', schema: z.object({ ...pageFields, segments: z.array(SegmentSchema) }) },
  },
  async (app: StackApp, input, { key }) => {
    const page = pageOf(input, LIST, key?.id);
    const found = await app.store.segments.ofKey(key?.id ?? '', page.query.limit, page.query.after);
    const { rows, fields } = page.cut(found, (segment) => segment.name);
    return { ...fields, segments: rows.map(segmentReport) };
  },
);

export const getSegment = route(
  {
    ...common,
    method: 'GET',
    path,
    summary: 'A segment',
    params: SegmentPath,
    output: { kind: 'signed', schema: WithSegment },
    errors: ['not_found'],
  },
  async (app: StackApp, input, { key, refuse }) => {
    const segment = await app.store.segments.find(key?.id ?? '', input.name);
    return segment ? { segment: segmentReport(segment) } : refuse('not_found', NO_SEGMENT);
  },
);
const NO_SEGMENT = 'This key has no segment with this name.';

export const putSegment = route(
  {
    ...common,
    method: 'PUT',
    path,
    summary: 'Save a query as a segment',
    description: `\`segment:name\` in a query of the same key has its conditions. A segment in the query is replaced by its conditions now. A key has at most ${MAX_SEGMENTS}.`,
    params: SegmentPath,
    bodies: { 'application/json': z.strictObject({ query: QueryText }) },
    output: { kind: 'signed', schema: WithSegment },
    errors: ['payload_too_large', 'unsupported_media_type'],
  },
  async (app: StackApp, { name, body: { query } }, { key }) => {
    queryIn(app, query);
    const segment = await app.store.segments.put(key?.id ?? '', { name, query }, MAX_SEGMENTS);
    if (!segment) return refuseField('name', `would be segment ${MAX_SEGMENTS + 1} of this key: delete one first`);
    return { segment: segmentReport(segment) };
  },
);

export const deleteSegment = route(
  {
    ...common,
    method: 'DELETE',
    path,
    summary: 'Delete a segment',
    params: SegmentPath,
    output: { kind: 'signed', schema: z.object({ deleted: name }) },
    errors: ['not_found'],
  },
  async (app: StackApp, input, { key, refuse }) => {
    const isDeleted = await app.store.segments.delete(key?.id ?? '', input.name);
    return isDeleted ? { deleted: input.name } : refuse('not_found', NO_SEGMENT);
  },
);
