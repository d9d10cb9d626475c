export type SseClient = any;
export const formatSse = (x: any) => '';
