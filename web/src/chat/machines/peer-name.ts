// A short peer id: its last characters, since all ids begin alike.
export const shortPeer = (peer: string): string => (peer.length > 12 ? `…${peer.slice(-6)}` : peer);
