import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

export interface Cuttable {
  /** `IP:port` */
  readonly address: string;
  /** Breaks every connection; new ones are let through. */
  cut(): void;
  stop(): Promise<void>;
}

/** Passes connections on to a port of this machine, and can break them. */
export async function startCuttable(port: number): Promise<Cuttable> {
  const sockets = new Set<Socket>();
  const server = createServer((near) => {
    const far = connect(port, '127.0.0.1');
    for (const socket of [near, far]) {
      sockets.add(socket);
      // The other half sees the end; why it came is no concern here.
      socket.on('error', () => {});
      socket.on('close', () => {
        sockets.delete(socket);
        near.destroy();
        far.destroy();
      });
    }
    near.pipe(far).pipe(near);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('the server has no address');
  const cut = () => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    address: `127.0.0.1:${address.port}`,
    cut,
    stop: async () => {
      const closed = once(server, 'close');
      server.close();
      cut();
      await closed;
    },
  };
}
