// Receipts of segments, which a gateway and a worker each keep in a table of their store.
export { createSegments, indexSegmentProofs } from './segment-migrations.ts';
export { type SegmentRecord, type Segments, SegmentTable, type SegmentTables } from './segments.ts';
