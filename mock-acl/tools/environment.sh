# Sourced by set_env.sh and by mock-acl, with ASCEND_TOOLKIT_HOME set: the variables that a toolkit's set_env.sh sets.
# Any POSIX shell. A second time changes nothing.
export ASCEND_TOOLKIT_HOME
export ASCEND_HOME_PATH="$ASCEND_TOOLKIT_HOME"
export ASCEND_OPP_PATH="$ASCEND_TOOLKIT_HOME/opp"
export ASCEND_AICPU_PATH="$ASCEND_TOOLKIT_HOME"
export TOOLCHAIN_HOME="$ASCEND_TOOLKIT_HOME/toolkit"
case "${LD_LIBRARY_PATH-}:" in
    "$ASCEND_TOOLKIT_HOME/lib64:"*) ;;
    *) export LD_LIBRARY_PATH="$ASCEND_TOOLKIT_HOME/lib64${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" ;;
esac
case "${PYTHONPATH-}:" in
    "$ASCEND_TOOLKIT_HOME/python/site-packages:"*) ;;
    *) export PYTHONPATH="$ASCEND_TOOLKIT_HOME/python/site-packages${PYTHONPATH:+:$PYTHONPATH}" ;;
esac
case "${PATH-}:" in
    "$ASCEND_TOOLKIT_HOME/bin:$ASCEND_TOOLKIT_HOME/tools/profiler/bin:"*) ;;
    *) export PATH="$ASCEND_TOOLKIT_HOME/bin:$ASCEND_TOOLKIT_HOME/tools/profiler/bin${PATH:+:$PATH}" ;;
esac
