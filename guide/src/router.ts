import { createRouter, createWebHashHistory, createWebHistory, type RouteRecordRaw } from 'vue-router';

import Algorithm from './pages/Algorithm.vue';
import Collective from './pages/Collective.vue';
import Compare from './pages/Compare.vue';
import Home from './pages/Home.vue';
import NotFound from './pages/NotFound.vue';
import Own from './pages/Own.vue';

const routes: RouteRecordRaw[] = [
  { path: '/', name: 'home', component: Home },
  { path: '/:collective', name: 'collective', component: Collective, props: true },
  { path: '/:collective/compare', name: 'compare', component: Compare, props: true },
  { path: '/:collective/own', name: 'own', component: Own, props: true },
  { path: '/:collective/:algorithm', name: 'algorithm', component: Algorithm, props: true },
  { path: '/:path(.*)*', name: 'missing', component: NotFound },
];

/** The server answers every path with this page and says so; from a file or another server only the part behind # is ours. */
const served = document.querySelector('meta[name="routing"][content="history"]') !== null;

export const router = createRouter({
  history: served ? createWebHistory('/') : createWebHashHistory(),
  routes,
  scrollBehavior: (to, from, saved) => saved ?? (to.path === from.path ? false : { top: 0 }),
});
