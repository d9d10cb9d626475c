// Where the gateway's key set is; receipts name it.
export const KEY_SET_PATH = '/.well-known/inference-keys.json';
