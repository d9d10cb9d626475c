// A peer id as far as people tell it apart: its end, since all begin alike.
export const shortPeer = (peer: string): string => (peer.length > 12 ? `…${peer.slice(-6)}` : peer);
