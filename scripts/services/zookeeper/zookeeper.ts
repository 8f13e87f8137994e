// One ZooKeeper server, with ticks short enough that tests see a session expire after a second.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { copyMavenJars, install, javaRemedy, type Say } from '../installation.ts';
import type { Server } from '../server.ts';
import { findZooKeeperFault } from './probe.ts';

export interface ZooKeeperPlace {
  readonly folder: string;
  readonly port: number;
}

/** As in pom.xml. */
export const zookeeperVersion = '3.9.5';
export const zookeeperInstallation = `zookeeper-${zookeeperVersion}`;

const readyWithinMs = 30_000;
const javaOptions = ['-Xms64m', '-Xmx256m', '-XX:+UseSerialGC', '-Djava.net.preferIPv4Stack=true'];

/** Installs the jars where they are missing and returns their folder. */
export async function installZooKeeper(root: string, say: Say): Promise<string> {
  const pom = join(import.meta.dirname, 'pom.xml');
  return await install(root, { name: zookeeperInstallation, fill: (folder) => copyMavenJars(pom, folder) }, say);
}

export function zookeeperServer(jars: string, { folder, port }: ZooKeeperPlace): Server {
  return {
    label: 'ZooKeeper',
    address: `127.0.0.1:${port}`,
    folder,
    ports: [port],
    readyWithinMs,
    prepare() {
      const file = join(folder, 'zoo.cfg');
      writeFileSync(file, settings(folder, port));
      const main = 'org.apache.zookeeper.server.ZooKeeperServerMain';
      const args = [...javaOptions, '-classpath', `${jars}/*`, main, file];
      return { program: 'java', arguments: args, remedy: javaRemedy };
    },
    findFault: () => findZooKeeperFault(port),
  };
}

function settings(folder: string, port: number): string {
  return `# Milliseconds.
tickTime=500
minSessionTimeout=1000
maxSessionTimeout=60000
dataDir=${folder}/data
clientPort=${port}
clientPortAddress=127.0.0.1
admin.enableServer=false
4lw.commands.whitelist=ruok,srvr,mntr,cons,wchs,dump
# Tests open many sessions from one address.
maxClientCnxns=0
autopurge.snapRetainCount=3
# Hours.
autopurge.purgeInterval=1
`;
}
